import { expect, it } from 'vitest'
import { chromiumPath } from '../rig/browser/chromium.js'

it('a browser that was named and is not there is an error, not another browser', () => {
  const env = { CHROMIUM_PATH: '/nowhere/chromium' }
  expect(() => chromiumPath(env)).toThrow('Chromium is missing: looked at /nowhere/chromium.')
})
