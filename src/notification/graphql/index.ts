// The door of the feature: its types and operations, by concept.
import './context.ts'
import './enums.ts'
import './subscriber.ts'
import './delivery.ts'
import './told.ts'
import './connections.ts'
import './subscriptions.ts'
import './owner.ts'
