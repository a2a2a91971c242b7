import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { LedgerItem, Simulator } from '../../simulator/simulator.ts'
import { printable, record, shortened } from '../output.ts'
import { examples, wholeNumber } from '../session.ts'
import { interruption, print, type Shell } from '../shell.ts'
import { stopWithNpx } from './npx.ts'

interface Options {
  folder?: string
  host: string
  apnsPort: number
  apnsSandboxPort: number
  apnsChannelsPort: number
  apnsSandboxChannelsPort: number
  fcmPort: number
  webpushPort: number
  controlPort: number
  json?: true
}

export function declare(command: Command, shell: Shell): void {
  const port = wholeNumber(0, 65_535)
  command
    .option('--folder <folder>', 'For certificates and keys (default: DATA_DIR/simulator)')
    .option('--host <host>', 'Address to listen on', '127.0.0.1')
    .option('--apns-port <port>', 'Port of APNs; 0 chooses a free one', port, 0)
    .option('--apns-sandbox-port <port>', 'Port of the APNs sandbox', port, 0)
    .option('--apns-channels-port <port>', 'Port for broadcast channels', port, 0)
    .option('--apns-sandbox-channels-port <port>', 'Port for channels of the sandbox', port, 0)
    .option('--fcm-port <port>', 'Port of FCM', port, 0)
    .option('--webpush-port <port>', 'Port of Web Push', port, 0)
    .option('--control-port <port>', 'Port for faults and the inbox', port, 0)
    .option('--json', 'Print a line of JSON for the start and for each push')
  examples(
    command,
    ['tidings simulate', 'tidings simulate --apns-port 2197 --json | jq .title'],
    `Simulates APNs, FCM and the push services of browsers until Ctrl-C.
A token such as sim-410-1 asks for a fault; docs/guides/simulator.md lists them.`
  )
  command.action(async (options: Options) => {
    stopWithNpx(shell.env)
    const { overview, startSimulator, writeCredentials } = await import('../../simulator/simulator.ts')
    const interrupt = interruption(shell)
    const folder = resolve(options.folder ?? resolve(shell.env.DATA_DIR || 'data', 'simulator'))
    const simulator = await startSimulator({
      folder,
      host: options.host,
      apns: {
        port: options.apnsPort,
        sandboxPort: options.apnsSandboxPort,
        channels: { port: options.apnsChannelsPort, sandboxPort: options.apnsSandboxChannelsPort }
      },
      fcm: { port: options.fcmPort },
      webpush: { port: options.webpushPort },
      control: { port: options.controlPort }
    })
    try {
      const files = [resolve(folder, 'ca.pem'), ...(await writeCredentials(folder, simulator.credentials))]
      const { ca: _, ...addresses } = overview(simulator)
      print(shell, options.json ? JSON.stringify({ ...addresses, folder, files }) : greeting(simulator, files))
      // Follows before the first wait, so that no push is missed.
      const show = options.json ? (item: LedgerItem) => JSON.stringify(item) : line
      for await (const item of simulator.ledger.follow(interrupt)) print(shell, show(item))
    } finally {
      await simulator.close()
    }
  })
}

function greeting({ apns, fcm, webpush, controlUrl, ...more }: Simulator, files: string[]): string {
  const addresses = record([
    ['APNs', apns?.url],
    ['APNs sandbox', more.apnsSandbox?.url],
    ['APNs channels', more.apnsChannels?.url],
    ['Sandbox channels', more.apnsSandboxChannels?.url],
    ['FCM', fcm?.url],
    ['FCM tokens', fcm?.tokenUrl],
    ['Web Push', webpush?.url],
    ['Control', controlUrl]
  ])
  return `The simulators are ready.\n\n${addresses}\n\nTrust and credentials:\n${files.map((file) => `  ${file}`).join('\n')}\n\nPushes appear here. Ctrl-C stops.\n`
}

/** One push in one line. */
function line({ received_at, gateway, answer, title, body, device_id, token }: LedgerItem): string {
  const said = [title, body].filter((text) => text !== null).map((text) => printable(shortened(text, 80)))
  const result = answer.reason ? `${answer.status || '---'} ${answer.reason}` : String(answer.status)
  const device = printable(shortened(device_id ?? token ?? '-', 40))
  return `${received_at.slice(11, 19)}  ${gateway.padEnd(7)}  ${result}  ${device}  ${said.join(': ') || '(no text)'}`
}
