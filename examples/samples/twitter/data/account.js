window.YTD.account.part0 = [
  {
    "account": {
      "email": "dana@levi.example",
      "createdVia": "web",
      "username": "danalevi_orchard",
      "accountId": "1100110011",
      "createdAt": "2012-05-01T08:00:00.000Z",
      "accountDisplayName": "Dana Levi"
    }
  }
]