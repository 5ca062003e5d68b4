window.YTD.direct_messages.part0 = [
  {
    "dmConversation": {
      "conversationId": "1100110011-2200220022",
      "messages": [
        {
          "messageCreate": {
            "recipientId": "2200220022",
            "reactions": [
              {
                "senderId": "2200220022",
                "reactionKey": "like",
                "eventId": "1765400000000000009",
                "createdAt": "2024-03-06T12:06:00.000Z"
              }
            ],
            "urls": [],
            "text": "Máš ještě ten žebřík? Pošli mi fakturu INV-2024-77",
            "mediaUrls": [],
            "senderId": "1100110011",
            "id": "1765400000000000002",
            "createdAt": "2024-03-06T12:05:00.123Z",
            "editHistory": [
              {
                "createdAtSec": "1709726760",
                "editedText": "Máš ten žebřík?"
              }
            ]
          }
        },
        {
          "messageCreate": {
            "recipientId": "1100110011",
            "reactions": [],
            "urls": [
              {
                "url": "https://t.co/lad",
                "expanded": "https://shop.example/ladder",
                "display": "shop.example/ladder"
              }
            ],
            "text": "See https://t.co/lad, it is 4 m long",
            "mediaUrls": [
              "https://ton.twitter.com/dm/1765400000000000001/1/ladder.jpg"
            ],
            "senderId": "2200220022",
            "id": "1765400000000000001",
            "createdAt": "2024-03-06T12:00:00.000Z"
          }
        }
      ]
    }
  },
  {
    "dmConversation": {
      "conversationId": "1100110011-4400440044",
      "messages": [
        {
          "messageCreate": {
            "recipientId": "1100110011",
            "reactions": [],
            "urls": [],
            "text": "Сколько стоит саженец?",
            "mediaUrls": [],
            "senderId": "4400440044",
            "id": "1765400000000000011",
            "createdAt": "2024-03-06T13:00:00.000Z"
          }
        }
      ]
    }
  }
]