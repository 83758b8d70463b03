import { expect, it } from 'vitest'
import { nodeRateLimit, type RateLimits, reportNeeds } from '../../../services/cli/doctor/node-findings.js'

it('a scope that needs more than is allowed, or than the nodes take, is a warning', () => {
  const said = (allowed: RateLimits) => {
    const lines: string[] = []
    reportNeeds({ requestsPerS: 5, bytesPerDay: 2e9 }, 'seen', allowed, (level, what) => lines.push(`${level} ${what}`))
    return lines
  }
  const needs = 'the scope needs about 5.0 requests/s and 2.0 GB a day (seen)'
  expect(said({ maxRps: undefined, taken: undefined })).toEqual([`ok ${needs}`])
  expect(said({ maxRps: 5, taken: 70 })).toEqual([`ok ${needs}`])
  expect(said({ maxRps: 4, taken: undefined })).toEqual([`warn ${needs}; "max_rps" is 4`])
  expect(said({ maxRps: undefined, taken: 3.2 })).toEqual([`warn ${needs}; the nodes take 3.2 at most`])
})

it('what nodes take together is known where each of them set a limit', () => {
  const of = (...rates: (number | null)[]) => nodeRateLimit(rates.map((perS) => ({ healthy: true, perS })))
  expect([of(), of(2, null), of(2, 3)]).toEqual([undefined, undefined, 5])
})
