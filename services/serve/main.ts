import { assembleServe, type Serve } from './assemble.js'
import { createPush } from './push-duty.js'
import { createRest } from './rest-duty.js'
import type { ServeDeps } from './serve-deps.js'

export type { Serve } from './assemble.js'
export type { PipeChainStatus, PushLimits, ServeConfig, ServeDeps } from './serve-deps.js'

/** Both duties on one memory. */
export const createServe = (deps: ServeDeps): Serve => assembleServe(deps, { rest: createRest, push: createPush })
