/** Subscriptions for views. */
import type { Item, SubscribeOptions, SubscribeParams } from '@dextape/client'
import { useEffect, useRef } from 'preact/hooks'
import { client, hear, refuseKey, session } from './session.js'
import { useValue } from './store.js'

/**
 * Calls `onItem` with what the subscription delivers, until the returned function is called. What happens before `onStarted` is
 * not delivered: read it then.
 */
export function follow<const P extends SubscribeParams>(
  params: P,
  onItem: (item: Item<P[0]>) => void,
  options: SubscribeOptions = {},
  onStarted: () => void = () => {},
): () => void {
  const subscription = client().subscribe(params, options)
  const run = async () => {
    try {
      for await (const item of subscription) {
        hear()
        onItem(item)
      }
    } catch (error) {
      if (!refuseKey(error)) console.warn('subscription ended', params[0], error)
    }
  }
  void run()
  subscription.started.then(onStarted, () => {})
  return () => subscription.close()
}

/** Follows while the view is open; undefined: nothing to follow yet. */
export function useFollow<const P extends SubscribeParams>(
  params: P | undefined,
  onItem: (item: Item<P[0]>) => void,
  options: SubscribeOptions = {},
  onStarted: () => void = () => {},
): void {
  const open = useValue(session)
  const latest = useRef(onItem)
  latest.current = onItem
  const name = JSON.stringify(params)
  useEffect(() => {
    if (params === undefined || open.kind !== 'open') return undefined
    return follow(params, (item) => latest.current(item), options, onStarted)
  }, [name, open])
}
