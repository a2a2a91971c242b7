// Imported before console.ts by tests that need a browser with notifications.
delete process.env.CHROMIUM_SHELL

export {}
