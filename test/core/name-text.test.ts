import { describe, expect, it } from 'vitest'
import {
  cutText,
  hasDirectionMarks,
  hasInvisible,
  isWebAddress,
  skeletonOf,
} from '../../services/core/domain/name-text.js'

describe('names that lie', () => {
  it.each([
    ['USDC', 'usdc'],
    ['USDC', 'U\u200bSDC'],
    ['USDC', 'ՍSDC'],
    ['USDC', 'USDС'],
    ['USDC', 'ＵＳＤＣ'],
    ['USDC', 'USDĆ'],
    ['USDC', 'U5DC'],
    ['USDT', 'USD₮'],
    ['USDT', '𝐔𝐒𝐃𝐓'],
    ['WETH', 'VVETH'],
    ['WETH', 'WЕТН'],
    ['DAI', 'DАІ'],
    ['Tether USD', 'Tetһer  USD'],
    ['SOL', 'S0L'],
    ['BNB', 'ΒΝΒ'],
  ])('%s and %s look alike', (real, copy) => {
    expect(skeletonOf(copy)).toBe(skeletonOf(real))
  })

  it.each([
    ['USDC', 'USDT'],
    ['WETH', 'ETH'],
    ['DAI', 'DAO'],
    ['PEPE', '佩佩'],
  ])('%s and %s do not', (one, other) => {
    expect(skeletonOf(other)).not.toBe(skeletonOf(one))
  })

  it('finds marks that turn text around, and characters nobody sees', () => {
    expect(['USDC', 'CDS\u202eU', '\u2067USDC'].map(hasDirectionMarks)).toEqual([false, true, true])
    expect(['USDC', 'US\u200bDC', 'US\u00adDC', '\u3164', 'CDS\u202eU'].map(hasInvisible)).toEqual([
      ...[false, true, true, true, false],
    ])
    // Emoji are joined by characters that are invisible elsewhere.
    expect(hasInvisible('👨‍👩‍👧 family ❤️')).toBe(false)
  })

  it('cuts without splitting a letter', () => {
    expect([cutText('abc', 2), cutText('a💧b', 2), cutText('a💧b', 3), cutText('abc', 3)]).toEqual([
      ...['ab', 'a', 'a💧', 'abc'],
    ])
  })

  it('links to the web only', () => {
    const links = ['https://a.example/x', 'http://a', 'javascript:alert(1)', 'data:text/html,x', 'ftp://a', '//a', 'a']
    expect(links.filter(isWebAddress)).toEqual(['https://a.example/x', 'http://a'])
  })
})
