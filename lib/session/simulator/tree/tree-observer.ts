import type { Acl } from '../../requests.js';

/** Told of each change to a node as it is carried out: watches are. The lists say who may know of it. */
export interface TreeObserver {
  created(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void;
  deleted(path: string, acl: readonly Acl[], parentAcl: readonly Acl[]): void;
  changed(path: string, acl: readonly Acl[]): void;
}
