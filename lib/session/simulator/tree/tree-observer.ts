import type { Acl } from '../../requests.js';

/** Called for each change to a node as it is carried out. The access lists tell who may know of the change. */
export interface TreeObserver {
  created(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void;
  deleted(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void;
  changed(path: string, acl: readonly Acl[]): void;
}
