import type { Platform, PlatformDeps } from './platform.js'

/** Loads only the configured platform: start-up waits for the import. */
export async function openPlatform(deps: PlatformDeps): Promise<Platform> {
  const { log } = deps.config
  if (log.kind === 'kafka') return (await import('./kafka.js')).kafkaPlatform(log, deps)
  return (await import('./embedded.js')).embeddedPlatform(deps)
}
