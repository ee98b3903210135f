/** Where subscriptions are handled, without a login: under it stand a subscriber's token, and what is done. */
export const SUBSCRIPTION_PATH = '/subscriptions'

/** The address of a subscriber's own page, on which it confirms, changes and ends what it is told. */
export function manageUrl(baseUrl: string, token: string): string {
  return `${baseUrl}${SUBSCRIPTION_PATH}/${token}`
}

/** Where a POST ends a subscription at once. */
export function unsubscribeUrl(baseUrl: string, token: string): string {
  return `${manageUrl(baseUrl, token)}/unsubscribe`
}
