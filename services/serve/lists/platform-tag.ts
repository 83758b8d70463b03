import type { TokenInfo } from '../../core/domain/records.js'
import type { TokenMeasure } from '../views/ranking.js'

/** Close to graduating: this far along the curve. */
const ALMOST = 0.8
/** Platforms known before any of their tokens is seen. */
const KNOWN_PLATFORMS = ['pump', 'fourmeme', 'bonk', 'moonshot', 'nadfun']
/** Tags of all platforms. */
const ANY_PLATFORM = ['meme', 'hot', 'new']
const STAGED = /^([a-z0-9][a-z0-9_.]*)_(in_almost|in_hot|in_new|out_hot|out_new)$/

export const TAG_FORMS =
  'meme, hot, new, <platform>, <platform>_in_almost, <platform>_in_hot, <platform>_in_new, <platform>_out_hot, <platform>_out_new'

/** What a tag asks for. */
export type PlatformTag = {
  includes(token: TokenInfo): boolean
  /** Over the limit the latest are chosen. */
  newest: boolean
  /** The time a `new` list is chosen by. */
  timeS: TokenMeasure
}

/** Undefined for a word that is no tag. `isSeen`: whether any token came from that platform. */
export function readTag(tag: string, isSeen: (platform: string) => boolean): PlatformTag | undefined {
  const staged = STAGED.exec(tag)
  const [platform, stage] = staged === null ? [tag, ''] : [staged[1] ?? '', staged[2] ?? '']
  if (ANY_PLATFORM.includes(tag)) return { includes: isLaunched, newest: tag === 'new', timeS: createdS }
  if (staged === null && !KNOWN_PLATFORMS.includes(tag) && !isSeen(tag)) return undefined
  const out = stage.startsWith('out')
  const fits = stage === '' ? isLaunched : stage === 'in_almost' ? isAlmost : out ? isOut : isIn
  return {
    includes: (info) => info.launch_platform === platform && fits(info),
    newest: stage.endsWith('new'),
    timeS: out ? graduatedS : createdS,
  }
}

const isLaunched = (info: TokenInfo): boolean => info.launch_platform !== null
const isOut = (info: TokenInfo): boolean => info.launch_stage === 'graduated'
const isIn = (info: TokenInfo): boolean => !isOut(info)
const isAlmost = (info: TokenInfo): boolean => isIn(info) && info.launch_progress >= ALMOST
const createdS: TokenMeasure = (_market, { info }) => info.created_at

/** A token graduates into a pool made for it. */
const graduatedS: TokenMeasure = ({ state }, { info }) =>
  state.pairs.get(info.launch_pool ?? '')?.info.created_at ?? info.launch_at
