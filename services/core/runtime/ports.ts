/** Listen addresses: checks a port before anything is opened, and describes why listening failed. */
import { createServer } from 'node:net'
import type { Config } from '../config/config.js'
import { ConfigError } from '../domain/errors.js'

export async function checkPortFree(host: string, port: number, name: string): Promise<void> {
  if (port === 0) return
  await new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (cause) => reject(portError(host, port, name, cause)))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()))
  })
}

/** The host part of a URL that reaches a server listening on `host` from this machine. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

type Listening = Pick<Config, 'host'> & Partial<Pick<Config, 'tls'>>

/** Where a server of this configuration is reached from this machine. */
export function restUrl({ host, tls }: Listening, port: number): string {
  return `${tls?.kind === 'files' ? 'https' : 'http'}://${hostInUrl(host)}:${port}`
}

export function pushUrl({ host, tls }: Listening, port: number): string {
  return `${tls?.kind === 'files' ? 'wss' : 'ws'}://${hostInUrl(host)}:${port}`
}

export function portError(host: string, port: number, name: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConfigError({
      code: 'host_unusable',
      what: `Cannot listen on ${host}: it is not an address of this machine (${code})`,
      fix: 'Set DEXTAPE_HOST to an address of this machine, or to 0.0.0.0 for all.',
      cause,
    })
  if (code === 'EADDRINUSE')
    return new ConfigError({
      code: 'port_in_use',
      what: `Port ${port} on ${host} is already in use`,
      fix: `Stop the process that listens on it, or choose another port with ${name}.`,
      cause,
    })
  return new ConfigError({
    code: 'port_unusable',
    what: `Cannot listen on port ${port} of ${host}: ${code === 'EACCES' ? 'permission denied' : code}`,
    fix: `Choose another port with ${name}.`,
    cause,
  })
}
