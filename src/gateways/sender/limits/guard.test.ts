import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuard } from './guard.ts'

const times = (count: number, what: () => void) => {
  for (let turn = 0; turn < count; turn += 1) what()
}

test('dead tokens of a new credential are not believed where most are dead; those of a proven one are', () => {
  const fresh = createGuard()
  times(19, fresh.tokenDead)
  assert.equal(fresh.holds, false, 'few answers say nothing')
  fresh.tokenDead()
  assert.equal(fresh.holds, true)
  const proven = createGuard()
  times(100, proven.accepted)
  times(250, proven.tokenDead)
  assert.equal(proven.holds, false)
})

test('where few tokens were dead before, ten times that share is not believed', () => {
  const guard = createGuard()
  times(100, () => {
    times(98, guard.accepted)
    times(2, guard.tokenDead)
  })
  assert.equal(guard.holds, false)
  times(150, guard.tokenDead)
  assert.equal(guard.holds, true)
  times(20_000, guard.tokenDead)
  assert.equal(guard.holds, true, 'it does not get used to it')
  times(150, guard.accepted)
  assert.equal(guard.holds, false, 'and ends when the tokens are good again')
})

test('where many tokens are usually dead, all are believed', () => {
  const guard = createGuard()
  times(1_000, () => {
    guard.tokenDead()
    guard.accepted()
    guard.accepted()
  })
  times(200, guard.tokenDead)
  assert.equal(guard.holds, false)
})

test('what was believed of the remembered answers is taken back once', () => {
  const guard = createGuard()
  const token = (number: number) => ({ deviceId: `${number}`, token: `t-${number}`, asOf: new Date(0) })
  const dead = (number: number) => {
    guard.tokenDead()
    guard.believed(token(number))
  }
  dead(0)
  times(200, guard.accepted)
  dead(1)
  times(198, guard.accepted)
  dead(2)
  assert.deepEqual(guard.takeBack(), [token(1), token(2)])
  assert.deepEqual(guard.takeBack(), [])
})
