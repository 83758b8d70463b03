import { expect, test } from 'vitest'
import { parseSettings } from '../../../services/core/config/parse-settings.js'

test('reads JSON and YAML alike', () => {
  const settings = { http_port: 1, chains: { eth: { rpc: ['a: b', 'quoted \\" "x":'], on: true, of: null } } }
  expect(parseSettings(JSON.stringify(settings, null, 2))).toEqual(settings)
  const yaml = `http_port: 1\nchains:\n  eth: { rpc: ['a: b', 'quoted \\" "x":'], on: true, of: null }\n`
  expect(parseSettings(yaml)).toEqual(settings)
  expect(parseSettings('{ http_port: 1 }')).toEqual({ http_port: 1 })
  expect(parseSettings('')).toBeNull()
})

test('refuses a key that is named twice, in JSON too', () => {
  for (const text of ['{"a": 1, "a": 2}', '{"b": [{"a": 1, "a" : 1}]}', 'a: 1\na: 2\n'])
    expect(() => parseSettings(text)).toThrow('Map keys must be unique')
})
