/** Unread bytes and merged pushes of slow clients, with sockets whose clients read nothing. */
import { expect, it } from 'vitest'
import { CAPACITY, PLANS, type Plan } from '../../../services/core/domain/plans.js'
import { createMetrics } from '../../../services/core/runtime/metrics.js'
import { mergePush, openBacklog, releaseBacklog } from '../../../services/serve/push/backlog.js'
import { createBudgets } from '../../../services/serve/push/budgets.js'
import { createHub } from '../../../services/serve/push/hub.js'
import { openSession, type Session } from '../../../services/serve/push/session.js'
import type { PushSocket } from '../../../services/serve/push/transport/push-transport.js'
import { checkUnread } from '../../../services/serve/push/unread.js'
import { createServeMetrics } from '../../../services/serve/serve-metrics.js'
import { keyRecord } from '../rig.js'

const MB = 1_048_576

function rig(capacity = CAPACITY) {
  const metrics = createServeMetrics(createMetrics({ processMetrics: false }))
  const hub = createHub({ broadcast: () => {}, metrics, nowMs: () => 0 })
  const budgets = createBudgets(PLANS, capacity, () => 0)
  const open = new Map<PushSocket, Session>()
  const check = () => checkUnread({ hub, metrics, slowBytes: MB, capacity }, open)

  function unread(bytes: number, id: string, plan: Plan): Session {
    const session = openSession(budgets, { access: keyRecord({ id, plan }), keyHash: id })
    if ('refusal' in session) throw new Error(session.refusal)
    open.set({ ...SILENT, getBufferedAmount: () => bytes }, session)
    return session
  }
  return { check, unread }
}

const SILENT: PushSocket = {
  ...{ send: () => {}, cork: (work) => work(), subscribe: () => {}, unsubscribe: () => {} },
  ...{ getBufferedAmount: () => 0, end: () => {}, close: () => {} },
}

it('slows the sockets of a key with the most unread bytes until the others are within its plan', () => {
  const { check, unread } = rig()
  const free = [0.9, 1, 0.8, 0.9, 0.95].map((mb) => unread(mb * MB, 'free', 'free'))
  const other = unread(0.9 * MB, 'other', 'basic')
  check()
  expect(free.map(({ isSlow }) => isSlow)).toEqual([false, true, false, false, false])
  expect(other.isSlow).toBe(false)
})

it('slows the sockets with the most unread bytes of all keys where the server holds too many', () => {
  const { check, unread } = rig({ ...CAPACITY, unreadBytes: MB })
  const sessions = [0.5, 0.7, 0.2].map((mb, at) => unread(mb * MB, `key ${at}`, 'unlimited'))
  check()
  expect(sessions.map(({ isSlow }) => isSlow)).toEqual([false, true, false])
})

it('bounds the merged pushes of all slow subscriptions of a key', () => {
  const budgets = createBudgets(PLANS, CAPACITY, () => 0)
  const socket = budgets.openSocket(keyRecord({ plan: 'free' }))
  const backlogs = Array.from({ length: 20 }, () => openBacklog(socket))
  const text = 'x'.repeat(2_000)
  let counted = 0
  for (let at = 0; at < 1_500; at++) for (const backlog of backlogs) counted += mergePush(backlog, `candle ${at}`, text)
  expect(budgets.usage().memoryBytes).toBeLessThanOrEqual(PLANS.free.memoryBytes)
  const kept = backlogs.reduce((sum, { pushes }) => sum + pushes.size, 0)
  expect([kept + counted, counted > 0]).toEqual([30_000, true])
  expect(backlogs.reduce((sum, { merged }) => sum + merged, 0)).toBe(counted)
  // The newest state replaces the oldest.
  expect(backlogs.every(({ pushes }) => pushes.size === 0 || pushes.has('candle 1499'))).toBe(true)
  for (const backlog of backlogs) releaseBacklog(backlog)
  socket.close()
  expect(budgets.usage()).toMatchObject({ sockets: 0, memoryBytes: 0 })
})
