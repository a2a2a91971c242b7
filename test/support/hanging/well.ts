import { test } from 'node:test'

test('it ends well', () => {})
