import assert from 'node:assert/strict'
import { it } from 'node:test'
import { missingPlaceholders } from '../../src/console/page/pages/campaigns/message/placeholders.ts'

it('a translation lacks the placeholders of no text that it leaves out or leaves empty', () => {
  const message = {
    title: 'Hi {{ user.name }}',
    body: '{{ user.city }}',
    translations: { de: { title: '', body: 'Text' }, fr: { title: 'Salut' } }
  }
  assert.deepEqual(missingPlaceholders(message, 'de'), ['user.city'])
  assert.deepEqual(missingPlaceholders(message, 'fr'), ['user.name'])
})
