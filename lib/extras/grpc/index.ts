export { GrpcLockExceptionFilter } from './grpc-lock-exception.filter.js';
