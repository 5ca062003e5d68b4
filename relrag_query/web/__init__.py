"""Pages for a browser: server-rendered, with small modules of JavaScript, and nothing from elsewhere."""
