import { expect, it } from 'vitest'
import { chromiumPath } from '../rig/browser/chromium.js'

it('fails when the browser in CHROMIUM_PATH is missing, without trying another', () => {
  const env = { CHROMIUM_PATH: '/nowhere/chromium' }
  expect(() => chromiumPath(env)).toThrow('Chromium is missing: looked at /nowhere/chromium.')
})
