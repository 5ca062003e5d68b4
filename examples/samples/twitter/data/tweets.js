window.YTD.tweets.part0 = [
  {
    "tweet": {
      "edit_info": {
        "initial": {
          "editTweetIds": [
            "1765300000000000003"
          ],
          "editableUntil": "2024-03-06T11:00:00.000Z",
          "editsRemaining": "5",
          "isEditEligible": true
        }
      },
      "retweeted": false,
      "source": "<a href=\"https://mobile.twitter.com\">Web</a>",
      "entities": {
        "hashtags": [],
        "symbols": [],
        "user_mentions": [
          {
            "name": "Petr Kolář",
            "screen_name": "petrkolar",
            "indices": [
              "0",
              "10"
            ],
            "id_str": "2200220022",
            "id": "2200220022"
          }
        ],
        "urls": []
      },
      "display_text_range": [
        "0",
        "78"
      ],
      "favorite_count": "3",
      "id_str": "1765300000000000003",
      "truncated": false,
      "retweet_count": "0",
      "id": "1765300000000000003",
      "created_at": "Wed Mar 06 11:00:00 +0000 2024",
      "favorited": false,
      "full_text": "@petrkolar Ano, v sobotu &amp; neděli otevřeno, objednávky na +420 601 234 567",
      "lang": "en",
      "in_reply_to_status_id_str": "1765300000000000001",
      "in_reply_to_status_id": "1765300000000000001",
      "in_reply_to_user_id_str": "2200220022",
      "in_reply_to_screen_name": "petrkolar"
    }
  },
  {
    "tweet": {
      "edit_info": {
        "initial": {
          "editTweetIds": [
            "1765300000000000001"
          ],
          "editableUntil": "2024-03-06T11:00:00.000Z",
          "editsRemaining": "5",
          "isEditEligible": true
        }
      },
      "retweeted": false,
      "source": "<a href=\"https://mobile.twitter.com\">Web</a>",
      "entities": {
        "hashtags": [],
        "symbols": [],
        "user_mentions": [],
        "urls": [
          {
            "url": "https://t.co/abc",
            "expanded_url": "https://orchard.example/quince",
            "display_url": "orchard.example/quince",
            "indices": [
              "33",
              "49"
            ]
          }
        ],
        "media": [
          {
            "expanded_url": "https://twitter.com/danalevi_orchard/status/1765300000000000001/photo/1",
            "indices": [
              "50",
              "66"
            ],
            "url": "https://t.co/pic",
            "media_url": "http://pbs.twimg.com/media/GHquince.jpg",
            "id_str": "1",
            "id": "1",
            "media_url_https": "https://pbs.twimg.com/media/GHquince.jpg",
            "type": "photo",
            "display_url": "pic.twitter.com/pic"
          }
        ]
      },
      "display_text_range": [
        "0",
        "66"
      ],
      "favorite_count": "3",
      "id_str": "1765300000000000001",
      "truncated": false,
      "retweet_count": "0",
      "id": "1765300000000000001",
      "created_at": "Wed Mar 06 10:00:00 +0000 2024",
      "favorited": false,
      "full_text": "The first quinces are in blossom https://t.co/abc https://t.co/pic",
      "lang": "en",
      "extended_entities": {
        "media": [
          {
            "expanded_url": "https://twitter.com/danalevi_orchard/status/1765300000000000001/photo/1",
            "indices": [
              "50",
              "66"
            ],
            "url": "https://t.co/pic",
            "media_url": "http://pbs.twimg.com/media/GHquince.jpg",
            "id_str": "1",
            "id": "1",
            "media_url_https": "https://pbs.twimg.com/media/GHquince.jpg",
            "type": "photo",
            "display_url": "pic.twitter.com/pic"
          }
        ]
      }
    }
  },
  {
    "tweet": {
      "edit_info": {
        "initial": {
          "editTweetIds": [
            "1765200000000000002"
          ],
          "editableUntil": "2024-03-06T11:00:00.000Z",
          "editsRemaining": "5",
          "isEditEligible": true
        }
      },
      "retweeted": false,
      "source": "<a href=\"https://mobile.twitter.com\">Web</a>",
      "entities": {
        "hashtags": [],
        "symbols": [],
        "user_mentions": [
          {
            "name": "Eva Malá",
            "screen_name": "evamala",
            "indices": [
              "0",
              "8"
            ],
            "id_str": "3300330033",
            "id": "3300330033"
          }
        ],
        "urls": []
      },
      "display_text_range": [
        "0",
        "47"
      ],
      "favorite_count": "3",
      "id_str": "1765200000000000002",
      "truncated": false,
      "retweet_count": "0",
      "id": "1765200000000000002",
      "created_at": "Tue Mar 05 09:30:00 +0000 2024",
      "favorited": false,
      "full_text": "RT @evamala: Frost tonight, cover your apricots",
      "lang": "en"
    }
  },
  {
    "tweet": {
      "edit_info": {
        "initial": {
          "editTweetIds": [
            "1765100000000000001"
          ],
          "editableUntil": "2024-03-06T11:00:00.000Z",
          "editsRemaining": "5",
          "isEditEligible": true
        }
      },
      "retweeted": false,
      "source": "<a href=\"https://mobile.twitter.com\">Web</a>",
      "entities": {
        "hashtags": [],
        "symbols": [],
        "user_mentions": [],
        "urls": []
      },
      "display_text_range": [
        "0",
        "15"
      ],
      "favorite_count": "3",
      "id_str": "1765100000000000001",
      "truncated": false,
      "retweet_count": "0",
      "id": "1765100000000000001",
      "created_at": "Mon Mar 04 08:00:00 +0000 2024",
      "favorited": false,
      "full_text": "בוקר טוב מהפרדס",
      "lang": "en"
    }
  }
]