import type { FastifyInstance } from 'fastify'
import type { ChainDirectory } from './chain-directory.js'
import type { BadKeys } from './keys/bad-keys.js'
import type { KeyGate } from './keys/key-gate.js'
import type { KeyQueries } from './keys/key-queries.js'
import type { WsTokens } from './keys/ws-tokens.js'
import type { Memory } from './memory/memory.js'
import type { PushServer } from './push/push-server.js'
import type { PushReport, ServeDeps } from './serve-deps.js'
import type { ServeMetrics } from './serve-metrics.js'
import type { StatusReport } from './status-report.js'

/** What both duties are made of. */
export type DutyParts = {
  memory: Memory
  chains: ChainDirectory
  gate: KeyGate
  tokens: WsTokens
  queries: KeyQueries
  badKeys: BadKeys
  metrics: ServeMetrics
  nowMs: () => number
}

export type CreatePush = (deps: ServeDeps, parts: DutyParts) => { server: PushServer; report: PushReport }

export type CreateRest = (deps: ServeDeps, parts: DutyParts, state: RestState) => FastifyInstance

/** What REST reports of the process. */
export type RestState = { isLoaded: () => boolean; wsPort: () => number; status: () => Promise<StatusReport> }

/** What an instance does. In `up` and in a serve node, REST and push each have a thread, which loads only its own. */
export type Duties = { rest?: CreateRest; push?: CreatePush }
