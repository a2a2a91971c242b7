import { setTimeout as sleep } from 'node:timers/promises'
import type { Trigger } from '../../wire.ts'
import { interrupted, segment } from '../client.ts'
import { type Cell, counted, record, time } from '../output.ts'
import { showCount } from '../progress.ts'
import { inProject, type Session } from '../session.ts'

const pollMs = 300
const ends = new Set(['completed', 'canceled', 'failed'])

/** Polls a trigger until it ends, and draws its progress. */
export async function watchTrigger(session: Session, id: string): Promise<Trigger> {
  const progress = showCount(session.shell.stderr, 'Sending')
  try {
    for (;;) {
      const path = inProject(session, `/api/v1/triggers/${segment(id)}`)
      const trigger = await session.client.json<Trigger>('GET', path)
      const { targeted, pending, failed, skipped } = trigger.counts
      if (ends.has(trigger.state)) return trigger
      const more = trigger.expanded_at ? '' : ' so far'
      progress.at(targeted - pending, targeted, `${more}, ${failed} failed, ${skipped} skipped`)
      await sleep(pollMs, undefined, { signal: session.interrupt }).catch(() => {
        throw interrupted()
      })
    }
  } finally {
    progress.end()
  }
}

export function shownTrigger({ counts, ...trigger }: Trigger): string {
  const lines: [string, Cell][] = [
    ['Trigger', trigger.trigger_id],
    ['Campaign', `${trigger.campaign_id}, version ${trigger.campaign_version}`],
    ['State', trigger.reason ? `${trigger.state} (${trigger.reason})` : trigger.state],
    ['Source', trigger.source.kind],
    ['Accepted', time(trigger.accepted_at)],
    ...(trigger.send_at ? [['Send at', time(trigger.send_at)] satisfies [string, Cell]] : []),
    ['Ended', time(trigger.ended_at)],
    ['Targeted', counts.targeted],
    ['Sent', counts.sent],
    ['Failed', withReasons(counts.failed, trigger.failures)],
    ['Skipped', withReasons(counts.skipped, trigger.skipped)],
    ['Pending', counts.pending],
    ['Delivered', counts.delivered],
    ['Tapped', counts.tapped]
  ]
  return record(lines)
}

const withReasons = (count: number, reasons: Record<string, number>): string => {
  const each = Object.entries(reasons).map(([reason, times]) => `${reason} ${times}`)
  return each.length > 0 ? `${count} (${each.join(', ')})` : String(count)
}

export const inShort = ({ state, counts }: Trigger): string =>
  `${state}: ${counted(counts.sent, 'message')} sent, ${counts.failed} failed, ${counts.skipped} skipped`
