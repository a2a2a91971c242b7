import { test } from 'node:test'

test('it never lets go of the processor', () => {
  for (;;);
})
