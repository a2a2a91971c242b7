import type { Facts, Sample } from './facts.ts'

const longestShown = 120

/** The facts in words, for a person who has to agree. */
export function describeFacts(facts: Facts): string {
  const { campaignName, campaignVersion, recipients, devices, excluded, sample, complete } = facts
  const atLeast = complete ? '' : 'at least '
  const reached =
    recipients === 0 && complete
      ? 'nobody'
      : `${atLeast}${counted(recipients, 'person', 'people')} on ${atLeast}${counted(devices, 'device', 'devices')}`
  const reasons = Object.entries(excluded)
  const leftOut = reasons.reduce((sum, [, count]) => sum + count, 0)
  const because = reasons.map(([reason, count]) => `${reason}: ${numeral(count)}`).join(', ')
  const without = leftOut === 0 ? '' : `; ${numeral(leftOut)} ${leftOut === 1 ? 'is' : 'are'} left out (${because})`
  const example = sample[0] ? ` For example ${described(sample[0])}.` : ''
  return `${quoted(campaignName)} (version ${campaignVersion}) would reach ${reached}${without}.${example}`
}

const described = ({ projectUserId, title, body }: Sample): string => {
  const texts = [title, body].flatMap((text) => (text ? quoted(text) : []))
  return `to ${projectUserId === null ? 'an anonymous user' : clipped(projectUserId)}: ${texts.join(' ')}`
}

const numeral = (count: number) => count.toLocaleString('en-US')
const counted = (count: number, one: string, many: string) => `${numeral(count)} ${count === 1 ? one : many}`

const quoted = (text: string) => `“${clipped(text)}”`

/** On one line and short: names and messages are chosen by others, and the data part has them whole. */
function clipped(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > longestShown ? `${line.slice(0, longestShown).trimEnd()}…` : line
}
