// The door of the feature: its types and operations, by concept.
import './context.ts'
import './enums.ts'
import './alert-channel.ts'
import './alert.ts'
import './alerted.ts'
import './mutations.ts'
