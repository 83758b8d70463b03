/** What a visitor chose; kept in the browser. */
import { createStoredValue } from './store.js'

export type Theme = 'auto' | 'light' | 'dark'
export type Clock = 'utc' | 'local'

export const theme = createStoredValue<Theme>('dextape-theme', 'auto')
export const clock = createStoredValue<Clock>('dextape-clock', 'utc')

export function applyTheme(): void {
  const show = () => {
    document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'
  }
  theme.subscribe(show)
  matchMedia('(prefers-color-scheme: light)').addEventListener('change', show)
  show()
}

export function isDark(): boolean {
  const chosen = theme.get()
  return chosen === 'auto' ? !matchMedia('(prefers-color-scheme: light)').matches : chosen === 'dark'
}

export const isMotionReduced = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches
