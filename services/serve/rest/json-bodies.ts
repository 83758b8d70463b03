/** Equal JSON bodies are parsed once: programs that poll a list of ids send the same text again and again. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** A list of 200 ids has some 10,000 characters. */
const LONGEST_TEXT = 16_384
const MOST_BODIES = 128

/** Set it for routes that do not change their body. */
export const SHARED_BODY = { sharesBody: true } as const

export function shareJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  /** By text, least recently used first. */
  const parsed = new Map<string, unknown>()

  function keep(text: string, body: unknown): void {
    parsed.delete(text)
    parsed.set(text, body)
    if (parsed.size <= MOST_BODIES) return
    for (const oldest of parsed.keys()) {
      parsed.delete(oldest)
      return
    }
  }

  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text.length > LONGEST_TEXT || !isShared(request)) return parse(request, text, done)
    const known = parsed.get(text)
    if (known !== undefined) {
      keep(text, known)
      return done(null, known)
    }
    parse(request, text, (error, body) => {
      if (error === null && isObject(body)) keep(text, body)
      done(error, body)
    })
  })
}

const isShared = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as Partial<typeof SHARED_BODY>).sharesBody === true

const isObject = (body: unknown): boolean => typeof body === 'object' && body !== null
