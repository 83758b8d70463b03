import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { SHARED_BODY, shareJsonBodies } from '../../../services/serve/rest/json-bodies.js'

function setUp() {
  const app = fastify()
  shareJsonBodies(app)
  const bodies: unknown[] = []
  for (const [url, config] of [['/shared', SHARED_BODY] as const, ['/own', {}] as const]) {
    app.post(url, { config }, async (request) => {
      bodies.push(request.body)
      return 'ok'
    })
  }
  const post = async (url: string, payload: string) => {
    const answer = await app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload })
    return [answer.statusCode, answer.headers.connection]
  }
  return { post, bodies }
}

it('parses equal bodies once, for routes that leave them as they are', async () => {
  const { post, bodies } = setUp()
  for (const url of ['/shared', '/shared', '/own', '/own'])
    expect(await post(url, '{"a":[1]}')).toEqual([200, 'keep-alive'])
  const [first, second, third, fourth] = bodies
  expect(bodies).toEqual(Array.from({ length: 4 }, () => ({ a: [1] })))
  expect([second === first, third === first, fourth === third]).toEqual([true, false, false])
})

it('parses long bodies each time, and forgets the least recently used', async () => {
  const { post, bodies } = setUp()
  const long = JSON.stringify({ a: 'x'.repeat(20_000) })
  for (let n = 0; n < 2; n += 1) await post('/shared', long)
  expect(bodies[1]).not.toBe(bodies[0])
  for (let n = 0; n < 130; n += 1) await post('/shared', JSON.stringify({ n }))
  for (const n of [129, 0]) await post('/shared', JSON.stringify({ n }))
  expect([bodies.at(-2) === bodies.at(-3), bodies.at(-1) === bodies[2]]).toEqual([true, false])
})

it('refuses what is not JSON each time', async () => {
  const { post } = setUp()
  for (const text of ['{', '', '{"__proto__":1}', '{']) expect(await post('/shared', text)).toEqual([400, 'close'])
})
