import { columnsOf } from '../output.ts'
import type { Shell } from '../shell.ts'

type Keyboard = Shell['stdin'] & { setRawMode?: (raw: boolean) => void }
type Screen = Shell['stdout'] & { rows?: number }

/** Escape sequences that every terminal since the VT100 knows: the second screen, the cursor, and the rest of a line. */
const enter = '\x1b[?1049h\x1b[?25l'
const leave = '\x1b[?25h\x1b[?1049l'
const restOfLine = '\x1b[K'
const [home, restOfScreen] = ['\x1b[H', '\x1b[J']

export interface View {
  show(lines: string[]): void
  close(): void
}

/** Takes the whole terminal, and gives it back as it was. `stop` is called when q or Ctrl-C is pressed. */
export function openScreen({ stdin, stdout }: Shell, stop: () => void): View {
  const keyboard = stdin as Keyboard
  const screen = stdout as Screen
  const onKeys = (keys: Buffer) => {
    if (/[qQ\x03]/.test(keys.toString('latin1'))) stop()
  }
  if (keyboard.isTTY) {
    keyboard.setRawMode?.(true)
    keyboard.on('data', onKeys)
  }
  screen.write(enter)
  return {
    show(lines) {
      const rows = screen.rows ?? 24
      const shown = [...lines.slice(0, rows - 1), 'q ends']
      const cut = shown.map((line) => `${[...line].slice(0, columnsOf(screen)).join('')}${restOfLine}`)
      screen.write(`${home}${cut.join('\r\n')}${restOfScreen}`)
    },
    close() {
      screen.write(leave)
      if (!keyboard.isTTY) return
      keyboard.off('data', onKeys)
      keyboard.setRawMode?.(false)
      keyboard.pause()
    }
  }
}

/** One block after the other, for a pipe or a file. */
export const openPipe = ({ stdout }: Shell): View => ({
  show: (lines) => void stdout.write(`${lines.join('\n')}\n\n`),
  close: () => {}
})
