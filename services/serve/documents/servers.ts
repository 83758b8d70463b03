/**
 * The hosts of the REST interface. The interface lists two that are equal: those configured, else wherever the document came
 * from; a second one that nobody named stays a variable.
 */
export function serversOf(publicUrls: readonly string[]): Record<string, unknown>[] {
  const [first = '/', ...others] = publicUrls
  const named = [first, ...others].map((url, index) => ({
    url,
    description: index === 0 ? 'This server' : 'An equivalent host',
  }))
  if (others.length > 0) return named
  const alternative = { default: first, description: 'Address of a second, equivalent host where there is one' }
  return [
    ...named,
    { url: '{alt_base_url}', description: 'An equivalent host', variables: { alt_base_url: alternative } },
  ]
}
