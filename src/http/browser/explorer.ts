/** GraphiQL, which its own script sets on the window. */
declare const YogaGraphiQL: { renderYogaGraphiQL: (element: Element, options: object) => void }

const root = document.getElementById('graphiql')
if (root === null) throw new Error('The page has no element for GraphiQL.')
const { options, workers }: { options: { defaultTabs: object[] }; workers: Record<string, string> } = JSON.parse(
  root.dataset['settings'] ?? '',
)
// A link with a query opens with that tab only.
const tabs = new URLSearchParams(location.search).has('query') ? {} : { defaultTabs: options.defaultTabs }

Object.assign(window, {
  MonacoEnvironment: { globalAPI: false, getWorkerUrl: (_: string, label: string) => workers[label] },
})
YogaGraphiQL.renderYogaGraphiQL(root, { ...options, defaultTabs: undefined, ...tabs })
