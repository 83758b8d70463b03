/** The certificate of the REST and WebSocket ports: read from files, and read again when they change. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError } from '../domain/errors.js'
import type { Logger } from './logger.js'

/** Absolute paths of PEM files. */
export type TlsFiles = { cert: string; key: string }

export type Certificate = { cert: string; key: string }

/** Fails if a file cannot be read, is not PEM, or the key is not the certificate's. */
export function readCertificate(files: TlsFiles): Certificate {
  const read = readFiles(files)
  checkCertificate(read, files)
  return read
}

function readFiles({ cert, key }: TlsFiles): Certificate {
  return { cert: readPem('certificate', cert), key: readPem('private key', key) }
}

function checkCertificate(read: Certificate, { cert, key }: TlsFiles): void {
  try {
    createSecureContext(read)
  } catch (cause) {
    throw new ConfigError({
      code: 'tls_invalid',
      what: `Cannot use the certificate ${cert} with the private key ${key}`,
      got: (cause as Error).message,
      fix: 'Set DEXTAPE_TLS_CERT to the certificate chain and DEXTAPE_TLS_KEY to its key, both PEM, without a passphrase.',
      cause,
    })
  }
}

function readPem(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ConfigError({
      code: 'tls_unreadable',
      what: `Cannot read the ${what} ${path}`,
      got: (cause as NodeJS.ErrnoException).code ?? (cause as Error).message,
      fix: 'Set DEXTAPE_TLS_CERT and DEXTAPE_TLS_KEY to PEM files that this user can read.',
      cause,
    })
  }
}

/** When the certificate expires, epoch milliseconds; undefined if the file cannot be read now. */
export function certificateEnd({ cert }: Pick<TlsFiles, 'cert'>): number | undefined {
  try {
    // The first of a chain is the server's.
    return Date.parse(new X509Certificate(readFileSync(cert)).validTo)
  } catch {
    return undefined
  }
}

const CHECK_EVERY_MS = 5000

export type CertificateWatch = {
  files: TlsFiles
  onChange: (certificate: Certificate) => void
  logger: Logger
  checkEveryMs?: number | undefined
}

/**
 * Calls `onChange` with each new certificate. Renewals replace one file after the other: until both fit, the old certificate
 * stays, and so it does if the new one is unusable. Files are read, not watched: links to folders may be swapped below them.
 */
export function watchCertificate({
  files,
  onChange,
  logger,
  checkEveryMs = CHECK_EVERY_MS,
}: CertificateWatch): () => void {
  let used = readCertificate(files)
  let reported = ''
  const timer = setInterval(() => {
    try {
      const read = readFiles(files)
      const isChanged = read.cert !== used.cert || read.key !== used.key
      if (isChanged) checkCertificate(read, files)
      reported = ''
      if (!isChanged) return
      used = read
      onChange(read)
      logger.info('new TLS certificate in use', { file: files.cert })
    } catch (error) {
      const { message } = error as Error
      if (message !== reported) logger.warn('cannot use the new TLS certificate, the old one stays', { error })
      reported = message
    }
  }, checkEveryMs).unref()
  return () => clearInterval(timer)
}
