/** Finds out before anything is opened whether a port can be listened on. */
import { createServer } from 'node:net'
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

export function portError(host: string, port: number, name: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConfigError({
      code: 'host_unusable',
      what: `Cannot listen on ${host}: it is not an address of this machine (${code})`,
      fix: 'Set DEXTAPE_HOST to one that is, or to 0.0.0.0 for all.',
      cause,
    })
  const reason =
    code === 'EADDRINUSE' ? 'is already in use' : code === 'EACCES' ? 'needs permission' : `cannot be opened: ${code}`
  return new ConfigError({
    code: code === 'EADDRINUSE' ? 'port_in_use' : 'port_unusable',
    what: `Port ${port} on ${host} ${reason}`,
    fix: `Stop what listens there, or choose another port with ${name}.`,
    cause,
  })
}
