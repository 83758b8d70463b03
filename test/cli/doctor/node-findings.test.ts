import { expect, it } from 'vitest'
import { nodeRateLimit, type RateLimits, reportNeeds } from '../../../services/cli/doctor/node-findings.js'

it('warns if the scope needs more than "max_rps" or the nodes allow', () => {
  const reported = (allowed: RateLimits) => {
    const lines: string[] = []
    reportNeeds({ requestsPerS: 5, bytesPerDay: 2e9 }, 'sampled', allowed, (level, what) =>
      lines.push(`${level} ${what}`),
    )
    return lines
  }
  const needs = 'the scope needs about 5.0 requests/s and 2.0 GB per day (sampled)'
  expect(reported({ maxRps: undefined, nodeLimit: undefined })).toEqual([`ok ${needs}`])
  expect(reported({ maxRps: 5, nodeLimit: 70 })).toEqual([`ok ${needs}`])
  expect(reported({ maxRps: 4, nodeLimit: undefined })).toEqual([`warn ${needs}; "max_rps" is 4`])
  expect(reported({ maxRps: undefined, nodeLimit: 3.2 })).toEqual([`warn ${needs}; the nodes allow 3.2`])
})

it('adds up the rate limits if every node reported one', () => {
  const of = (...rates: (number | null)[]) => nodeRateLimit(rates.map((perS) => ({ healthy: true, perS })))
  expect([of(), of(2, null), of(2, 3)]).toEqual([undefined, undefined, 5])
})
