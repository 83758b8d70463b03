/** The head of each chain, and its lag behind the clock. */

import { element } from './elements.js'
import { date, duration } from './format.js'

const LATE_S = 60
/** A larger lag means that a recording is played. */
const PAST_S = 86_400

export function showChains(list, chains) {
  list.replaceChildren(
    ...chains.map((status) =>
      element(
        'li',
        { 'data-health': healthOf(status), ...(status.stopped === null ? {} : { title: status.stopped }) },
        element('b', { text: status.chain }),
        element('span', { text: status.head === 0 ? 'no block yet' : status.head.toLocaleString('en-US') }),
        element('span', { class: 'soft', text: lagText(status) }),
      ),
    ),
  )
}

function healthOf({ stopped, lag_s }) {
  if (stopped !== null) return 'stopped'
  return lag_s > LATE_S ? 'late' : 'good'
}

function lagText({ stopped, head, time, lag_s }) {
  if (stopped !== null) return 'stopped'
  if (head === 0) return ''
  return lag_s > PAST_S ? `at ${date(time)}` : `${duration(lag_s)} behind`
}
