import { embeddedPlatform } from './embedded.js'
import { kafkaPlatform } from './kafka.js'
import type { Platform, PlatformDeps } from './platform.js'

export function openPlatform(deps: PlatformDeps): Platform {
  const { log } = deps.config
  return log.kind === 'kafka' ? kafkaPlatform(log, deps) : embeddedPlatform(deps)
}
