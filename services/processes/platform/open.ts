import type { Platform, PlatformDeps } from './platform.js'

/** Only the one asked for is loaded: a start waits for it. */
export async function openPlatform(deps: PlatformDeps): Promise<Platform> {
  const { log } = deps.config
  if (log.kind === 'kafka') return (await import('./kafka.js')).kafkaPlatform(log, deps)
  return (await import('./embedded.js')).embeddedPlatform(deps)
}
