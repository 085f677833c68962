/** It has types of its own, which are there only where it is installed. What is used of it is in kerberos-package.ts. */
declare module 'kerberos';
