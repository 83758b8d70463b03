import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { type Rig, startRig } from '../rig.js'

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
  await rig.start()
})
afterAll(() => rig.stop())

const withoutKey = (path: string, headers: Record<string, string> = {}) => rig.get(path, headers)

describe('pages and documents without a key', () => {
  it('serves the OpenAPI document as JSON and as YAML', async () => {
    const json = await withoutKey('/openapi.json')
    const yaml = await withoutKey('/openapi.yaml')
    const document = (await json.json()) as { openapi: string; info: { version: string } }
    expect([json.headers.get('content-type'), yaml.headers.get('content-type')]).toEqual([
      'application/json; charset=utf-8',
      'application/yaml; charset=utf-8',
    ])
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '2.1.0'])
    expect(parseYaml(await yaml.text())).toEqual(document)
  })

  it('serves the AsyncAPI document as JSON', async () => {
    const document = (await (await withoutKey('/asyncapi.json')).json()) as { asyncapi: string }
    expect(document.asyncapi).toBe('3.0.0')
  })

  it.each(['/', '/token/eth/0x1', '/reference', '/pages/base.css', '/pages/reference.js', '/pages/icon.svg'])(
    '%s allows no external resources',
    async (path) => {
      const response = await withoutKey(path)
      const text = await response.text()
      expect(response.status).toBe(200)
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      expect(text.match(/(?:src|href|import|from|url\()[ ="'(]+(?:https?:)?\/\//g)).toBeNull()
    },
  )

  it('answers 304 to a request with an unchanged ETag', async () => {
    const first = await withoutKey('/pages/base.css')
    const again = await withoutKey('/pages/base.css', { 'if-none-match': first.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('compresses the files of the dashboard, which their names let browsers keep', async () => {
    const page = await (await withoutKey('/')).text()
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? []
    const answers = await Promise.all(
      ['br', 'gzip', 'identity'].map((encoding) => withoutKey(script, { 'accept-encoding': encoding })),
    )
    expect(answers.map(({ headers }) => headers.get('content-encoding'))).toEqual(['br', 'gzip', null])
    expect(answers[0]?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const [first, ...others] = await Promise.all(answers.map((answer) => answer.text()))
    expect(others).toEqual([first, first])
  })

  it('serves no other file', async () => {
    const answers = await Promise.all(
      ['/pages/', '/pages/..%2froutes.ts', '/pages/nothing.js', '/pages/reference.html', '/assets/nothing.js'].map(
        (path) => withoutKey(path),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  })
})
