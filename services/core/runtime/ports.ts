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

export function portError(host: string, port: number, name: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code
  const reason =
    code === 'EADDRINUSE' ? 'is already in use' : code === 'EACCES' ? 'needs permission' : `cannot be opened: ${code}`
  return new ConfigError({
    code: code === 'EADDRINUSE' ? 'port_in_use' : 'port_unusable',
    what: `Port ${port} on ${host} ${reason}`,
    fix: `Stop what listens there, or choose another port with ${name}.`,
    cause,
  })
}
