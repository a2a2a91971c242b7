// Parse Server 9 on the same database, one object of the class Users a request. Installed by bench/users.ts into a folder of its own.
import { createRequire } from 'node:module'

const [, , folder, databaseURI, port] = process.argv
const require = createRequire(`${folder}/`)
const express = require('express')
const { ParseServer } = require('parse-server')

const server = new ParseServer({
  databaseURI,
  appId: 'bench',
  masterKey: 'bench',
  masterKeyIps: ['127.0.0.1', '::1'],
  serverURL: `http://127.0.0.1:${port}/parse`,
  allowClientClassCreation: true,
  silent: true,
  logLevel: 'error'
})
await server.start()
const app = express()
app.use('/parse', server.app)
app.listen(Number(port), '127.0.0.1', () => console.log(`is ready at http://127.0.0.1:${port}`))
process.on('SIGTERM', () => process.exit(0))
