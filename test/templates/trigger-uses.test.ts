import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { triggerUses } from '../../src/templates/trigger-uses.ts'

/** Each use as `order.total number, required`. */
const uses = (source: string) =>
  triggerUses(source).map(({ path, type, required }) => `${path.join('.')} ${type}${required ? ', required' : ''}`)

describe('the trigger values of a template', () => {
  const cases: [source: string, ...found: string[]][] = [
    ['Plain text about a trigger'],
    ['{{ user.name }}'],
    ['{{ trigger.code }}', 'code text, required'],
    ['{{ event.amount | round }}', 'amount number, required'],
    ['{{ trigger.code | default: "none" }}', 'code text'],
    ['{{ trigger.code | default: trigger.other }}', 'code text', 'other text'],
    ['{{ trigger.order.total | times: 2 }}', 'order.total number, required'],
    ['{{ trigger["odd name"] }}', 'odd name text, required'],
    ['{{ trigger.list[0].name }}', 'list json, required'],
    ['{{ trigger.prices[user.plan] }}', 'prices json, required'],
    ['{{ trigger[user.plan] }}'],
    ['{{ trigger.items.size }}', 'items json, required'],
    ['{% for one in trigger.items %}{{ one.name }}{% endfor %}', 'items json'],
    ['{% if trigger.vip %}Hi{% endif %}', 'vip boolean'],
    ['{% if trigger.count > 3 %}Many{% endif %}', 'count number'],
    ['{% if trigger.name %}{{ trigger.name }}{% endif %}', 'name boolean', 'name text'],
    ['{% unless trigger.vip %}{{ trigger.name }}{% endunless %}', 'vip boolean', 'name text, required'],
    ['{% case trigger.kind %}{% when "a" %}{{ trigger.kind }}{% endcase %}', 'kind text', 'kind text'],
    ['{% assign code = trigger.code | upcase %}{{ code }}', 'code text']
  ]
  for (const [source, ...found] of cases)
    it(`are found in ${source}`, () => {
      assert.deepEqual(uses(source), found)
    })
})
