import { createRequire } from 'node:module'
import type { Config } from '../../../core/config/config.js'
import { ConfigError } from '../../../core/domain/errors.js'
import type { CreateTransport, PushServerName } from './push-transport.js'
import { createUwsTransport, type Uws } from './uws-transport.js'
import { createWsTransport } from './ws-transport.js'

export type ChosenTransport = {
  server: PushServerName
  /** Why `ws` is used although it was not configured. */
  fallbackReason: string | null
  create: CreateTransport
}

export const GLIBC_FIX =
  'uWebSockets.js for Node 22 and later requires glibc 2.38 (Debian 13, Ubuntu 24.04). Use such a system, or Node 20.'

/** `auto` uses uWebSockets.js if its native build loads, otherwise `ws`. */
export function chooseTransport(choice: Config['pushServer'], loadUws: () => Uws = requireUws): ChosenTransport {
  const ws = { server: 'ws', create: createWsTransport } as const
  if (choice === 'ws') return { ...ws, fallbackReason: null }
  try {
    const uws = loadUws()
    return {
      server: 'uWebSockets.js',
      fallbackReason: null,
      create: (handlers, limits, tls) => createUwsTransport(uws, handlers, limits, tls),
    }
  } catch (cause) {
    const fallbackReason = `Cannot load uWebSockets.js on Node ${process.versions.node}: ${reasonOf(cause)}`
    if (choice === 'auto') return { ...ws, fallbackReason }
    const fix = `${GLIBC_FIX} Or set DEXTAPE_PUSH_SERVER=auto.`
    throw new ConfigError({ code: 'push_server_missing', what: fallbackReason, fix, cause })
  }
}

/** Only uWebSockets.js opens its port so that other processes can open it, too; the kernel then spreads connections over them. */
export function checkPortCanBeShared(choice: Config['pushServer']): void {
  const { server } = chooseTransport(choice)
  if (server === 'uWebSockets.js') return
  throw new ConfigError({
    code: 'ws_port_not_shared',
    what: `Processes cannot share a WebSocket port with ${server}`,
    fix: `Use uWebSockets.js (${GLIBC_FIX}) or give each process its own DEXTAPE_WS_PORT, without ws_port_shared.`,
  })
}

function requireUws(): Uws {
  return createRequire(import.meta.url)('uWebSockets.js') as Uws
}

/** The line with the cause, without local paths; the package prints its list of platforms first. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const inner = message.split('\n\n')[1] ?? message
  const [line = ''] = inner.trim().split('\n')
  return line
    .replace(/^Error: /, '')
    .replace(/\(required by .*\)/, '')
    .trim()
}
