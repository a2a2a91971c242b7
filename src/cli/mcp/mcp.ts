import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Command } from 'commander'
import { findKey, type KeyOptions } from '../connection.ts'
import { printable } from '../output.ts'
import { examples } from '../session.ts'
import { interruption, remark, type Shell } from '../shell.ts'
import { createBridge } from './bridge.ts'

export function declare(command: Command, shell: Shell): void {
  command
    .option('--url <url>', 'Address of the service (default: TIDINGS_URL)')
    .option('--key <key>', 'Secret key of a project (default: TIDINGS_KEY, which other users cannot see)')
  examples(
    command,
    ['TIDINGS_KEY=svc_sk_… tidings mcp --url https://tidings.example.com'],
    `Serves MCP on standard input and output, for the programs that start their
servers themselves. It passes every message on to /mcp of the service, so the
policy of the key applies. Standard output carries the protocol alone.

Without options and variables it takes address and key of the first project
from DATA_DIR/credentials.json.`
  )
  command.action(async (options: KeyOptions) => {
    const connection = await findKey(options, shell.env)
    const transport = new StdioServerTransport(shell.stdin, shell.stdout)
    const ended = Promise.withResolvers<void>()
    const bridge = createBridge(connection, (message) => transport.send(message))
    transport.onmessage = (message) => void bridge.forward(message)
    transport.onerror = (error) => remark(shell, printable(error.message))
    transport.onclose = ended.resolve
    interruption(shell).addEventListener('abort', () => void transport.close())
    await transport.start()
    await ended.promise
    bridge.close()
  })
}
