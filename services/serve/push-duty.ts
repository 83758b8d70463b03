import { CAPACITY, PLANS } from '../core/domain/plans.js'
import { watchCertificate } from '../core/runtime/tls-files.js'
import type { CreatePush } from './duties.js'
import { createPushServer } from './push/push-server.js'
import { createSmartBuyFeed } from './push/smart-buys.js'
import { chooseTransport, GLIBC_FIX } from './push/transport/choose-transport.js'
import { pushLimits } from './serve-deps.js'
import { moneyOf } from './views/market-facts.js'

export const createPush: CreatePush = (deps, parts) => {
  const { config, logger, pushedPositions: positions } = deps
  const { server, fallbackReason, create: createTransport } = chooseTransport(config.pushServer ?? 'auto')
  if (fallbackReason !== null)
    logger.warn('serving pushes with ws, which is slower than uWebSockets.js', {
      reason: fallbackReason,
      fix: GLIBC_FIX,
    })
  // Registered before the push server's own listener: noted before anything is sent.
  if (positions !== undefined) {
    parts.memory.onApplied(({ state }) => positions.note(state.chain, state))
    parts.memory.onAdopted((state) => positions.note(state.chain, state))
  }
  const limits = pushLimits(deps.push)
  const { plans = PLANS, capacity = CAPACITY } = config
  const tls = config.tls?.kind === 'files' ? config.tls : undefined
  const smartBuys = createSmartBuyFeed({
    ...{ memory: parts.memory, store: deps.store, nowMs: parts.nowMs, ringSeconds: limits.ringSeconds, logger },
    moneyOf: (chain) => moneyOf(parts.chains.market(chain) ?? { facts: undefined }),
  })
  const push = createPushServer({
    ...parts,
    smartBuys,
    logger,
    limits,
    plans,
    capacity,
    createTransport,
    compresses: config.pushCompression ?? false,
    tls,
    tracer: deps.tracer,
  })
  if (tls !== undefined)
    watchCertificate({
      files: tls,
      onChange: () => push.renewCertificate(tls),
      logger,
      checkEveryMs: deps.certificateCheckMs,
    })
  return {
    server: {
      ...push,
      stop() {
        smartBuys.stop()
        push.stop()
      },
    },
    report: { server, fallback_reason: fallbackReason },
  }
}
