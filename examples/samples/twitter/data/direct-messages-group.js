window.YTD.direct_messages_group.part0 = [
  {
    "dmConversation": {
      "conversationId": "1765000000000000000",
      "messages": [
        {
          "messageCreate": {
            "reactions": [],
            "urls": [],
            "text": "I bring the press on Friday",
            "mediaUrls": [],
            "senderId": "3300330033",
            "id": "1765500000000000003",
            "createdAt": "2024-03-07T09:00:00.000Z"
          }
        },
        {
          "conversationNameUpdate": {
            "initiatingUserId": "1100110011",
            "name": "Cider day",
            "createdAt": "2024-03-07T08:30:00.000Z"
          }
        },
        {
          "participantsJoin": {
            "initiatingUserId": "1100110011",
            "userIds": [
              "3300330033",
              "2200220022"
            ],
            "createdAt": "2024-03-07T08:00:00.000Z"
          }
        }
      ]
    }
  }
]