import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ApiError, fieldError } from '../../src/console/page/api/errors.ts'

it('a sentence of a fixed response belongs to each field that it names', () => {
  const error = new ApiError(
    400,
    'audience.targets[0]: must be an object; audience.targets[1]: must be an object; or null'
  )
  assert.equal(fieldError(error, 'audience.targets[0]'), 'must be an object')
  assert.equal(fieldError(error, 'audience.targets[1]'), 'must be an object; or null')
  assert.deepEqual(new ApiError(400, 'There is no campaign of this id.').fields, [])
})
