/** The path of the subscription pages, which need no login. The token and the action follow it. */
export const SUBSCRIPTION_PATH = '/subscriptions'

/** Returns the URL of the page where a subscriber confirms, changes and ends the subscription. */
export function manageUrl(baseUrl: string, token: string): string {
  return `${baseUrl}${SUBSCRIPTION_PATH}/${token}`
}

/** Returns the URL at which a POST ends the subscription at once. */
export function unsubscribeUrl(baseUrl: string, token: string): string {
  return `${manageUrl(baseUrl, token)}/unsubscribe`
}
