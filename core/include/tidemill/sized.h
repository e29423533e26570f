/* tidemill/sized.h - what the _INIT macros of the structs are made of.
 *
 * A struct of a type with its size, in which everything else is 0, but for one member that has
 * another default. In C++ it is made by a function, as only C++20 has designated members.
 */
#ifndef TIDEMILL_SIZED_H
#define TIDEMILL_SIZED_H

#ifdef __cplusplus
#define TIDEMILL_SIZED(type)                                                                       \
  []() -> type {                                                                                   \
    type sized = {};                                                                               \
    sized.size = sizeof(sized);                                                                    \
    return sized;                                                                                  \
  }()
#define TIDEMILL_SIZED_WITH(type, member, value)                                                   \
  []() -> type {                                                                                   \
    type sized = {};                                                                               \
    sized.size = sizeof(sized);                                                                    \
    sized.member = value;                                                                          \
    return sized;                                                                                  \
  }()
#else
#define TIDEMILL_SIZED(type)                                                                       \
  {                                                                                                \
    .size = sizeof(type)                                                                           \
  }
#define TIDEMILL_SIZED_WITH(type, member, value)                                                   \
  {                                                                                                \
    .size = sizeof(type), .member = value                                                          \
  }
#endif

#endif
