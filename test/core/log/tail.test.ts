import { describe, expect, it } from 'vitest'
import { createTail } from '../../../services/core/log/tail.js'

const chunk = (first: number, end: number, size = 10) => ({ first, end, bytes: Buffer.alloc(size) })

describe('the tail of the log', () => {
  it('finds the chunk that holds an offset, per topic', () => {
    const tail = createTail(1000)
    const [one, two, other] = [chunk(0, 5), chunk(7, 9), chunk(0, 100)]
    tail.add(1, one)
    tail.add(1, two)
    tail.add(2, other)
    expect([0, 4, 5, 7, 8, 9].map((offset) => tail.find(1, offset))).toEqual([one, one, undefined, two, two, undefined])
    expect(tail.find(2, 50)).toBe(other)
    expect(tail.find(3, 0)).toBeUndefined()
  })

  it('keeps the newest chunks of all topics within its size', () => {
    const tail = createTail(30)
    for (let at = 0; at < 10; at += 1) tail.add(at % 2, chunk(at, at + 1))
    const kept = Array.from({ length: 10 }, (_, at) => tail.find(at % 2, at) !== undefined)
    expect(kept).toEqual([...new Array(7).fill(false), true, true, true])
  })
})
