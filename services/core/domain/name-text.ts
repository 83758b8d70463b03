/** Texts that anybody may choose: what they hide, and which well-known text they look like. */

/** Marks that change the direction of what follows them (Unicode Bidirectional Algorithm, UAX #9). */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
/** Other characters without a form of their own: zero-width spaces and joiners, tags, soft hyphens, fillers. */
const INVISIBLE = /[\p{Cf}\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800]/u
const ALL_INVISIBLE = new RegExp(INVISIBLE, 'gu')
/** Emoji are joined and varied by such characters. */
const EMOJI_SEQUENCE = /\p{Extended_Pictographic}[\ufe0e\ufe0f]?(?:\u200d\p{Extended_Pictographic}[\ufe0e\ufe0f]?)*/gu

export const hasDirectionMarks = (text: string): boolean => DIRECTION.test(text)

export const hasInvisible = (text: string): boolean =>
  INVISIBLE.test(text.replaceAll(EMOJI_SEQUENCE, '').replaceAll(new RegExp(DIRECTION, 'gu'), ''))

/**
 * Letters of other scripts, and digits, that are drawn like a Latin letter. A selection of the confusables of Unicode
 * (https://www.unicode.org/Public/security/latest/confusables.txt); accents and widths are removed by normalisation.
 */
const LOOKALIKES: Record<string, string> = {
  ...{ а: 'a', в: 'b', е: 'e', ѕ: 's', і: 'i', ј: 'j', к: 'k', м: 'm', н: 'h', о: 'o', р: 'p', с: 'c', т: 't', у: 'y' },
  ...{ х: 'x', ԁ: 'd', ԛ: 'q', ԝ: 'w', һ: 'h', ӏ: 'l', ь: 'b', г: 'r', п: 'n' },
  ...{ α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', μ: 'm', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x', ζ: 'z' },
  ...{ ϲ: 'c', ϳ: 'j', ω: 'w', γ: 'y', σ: 'o', ո: 'n', օ: 'o', ս: 'u', հ: 'h', ց: 'g', զ: 'q', ե: 't' },
  ...{ ı: 'i', ɑ: 'a', ɡ: 'g', ꞓ: 'c', ᴄ: 'c', ᴏ: 'o', ᴛ: 't', ᴜ: 'u', ᴅ: 'd', ꜱ: 's', ʙ: 'b', ᴇ: 'e', ʜ: 'h', ᴡ: 'w' },
  ...{
    $: 's',
    '₮': 't',
    '€': 'e',
    '₿': 'b',
    Ξ: 'e',
    ξ: 'e',
    '◎': 'o',
    '0': 'o',
    '1': 'l',
    '5': 's',
    '|': 'l',
    '!': 'l',
  },
  ...{ đ: 'd', ħ: 'h', ł: 'l', ø: 'o', ŧ: 't', ƀ: 'b' },
}

/** Capitals that look like another letter than their small form does. */
const CAPITALS: Record<string, string> = { Ν: 'n', Η: 'h', Υ: 'y', Ζ: 'z', Μ: 'm', Ι: 'i', Γ: 'r' }

/** Two texts with the same skeleton look alike (UTS #39). `i`, `l` and `1` are one. */
export function skeletonOf(text: string): string {
  // Plain ASCII is by far the most.
  const plain = /^[\x20-\x7e]*$/.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .replaceAll(/\p{M}/gu, '')
        .replaceAll(ALL_INVISIBLE, '')
        .replaceAll(/[ΝΗΥΖΜΙΓ]/g, (letter) => CAPITALS[letter] ?? letter)
        .toLowerCase()
  let skeleton = ''
  for (const letter of plain.replaceAll(/\s/g, '')) skeleton += LOOKALIKES[letter] ?? letter
  return skeleton.replaceAll('i', 'l').replaceAll('rn', 'm').replaceAll('vv', 'w')
}

/** Never splits a surrogate pair. */
export function cutText(text: string, length: number): string {
  const cut = text.slice(0, length)
  return text.length > length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}

/** An address that a page may link to. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
